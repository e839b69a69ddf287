"""How the local driver does the work of each effect: one module per kind of work, over one workshop."""
