"""Coverage-guided fuzzing of everything that reads what others wrote. `python tests/fuzz/run.py` runs it."""
