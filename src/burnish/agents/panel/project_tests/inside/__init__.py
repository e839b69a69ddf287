"""What runs inside the project's own interpreter, as a copy: the standard library, nothing of burnish."""
