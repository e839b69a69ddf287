"""How good the embedded panel is: how much noise it makes, what it finds, and how long it takes."""
