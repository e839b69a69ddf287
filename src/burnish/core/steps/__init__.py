"""What each event does in each phase. `burnish.core.loop` holds the table that says which pairs are legal."""
