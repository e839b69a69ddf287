"""One module for each analyser: what to run and what its output means. `reading` is what they share."""
