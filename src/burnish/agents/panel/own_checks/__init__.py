"""What burnish looks for itself, because no tool does.

`look_into` looks at one file: what it finds in the base is old. `of_the_change` looks at the tree of the change and
tells only what is new. Words and names that both need are data in `rules/`.
"""
