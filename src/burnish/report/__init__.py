"""The account of a run, and one renderer for each form of it. Nothing here asks git, the ledger or an agent."""
