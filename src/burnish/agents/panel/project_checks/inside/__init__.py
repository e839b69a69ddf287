"""What runs inside of the sandbox, in the interpreter of a project's tool. Not imported by burnish."""
