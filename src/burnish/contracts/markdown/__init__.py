"""Reading a review that was written as markdown, one concern per module; `burnish.contracts.findings` joins them.

`lines` cuts a text into lines and knows code from prose, `outline` finds sections, `items` finds what a section lists,
`fields` and `places` turn one listed item into a finding, `listing` does so for all sections, `claims` and `verdicts`
read what the text says of itself; `denials`, `former`, `labels`, `severities` and `tags` hold the vocabulary, `render`
writes. Nothing here decides whether a review is clean.

Cost is linear in the text: lines longer than `lines.MAX_LINE` are cut before any pattern sees them, and no pattern
repeats what itself repeats without a bound. Questions that several passes ask about the same line are remembered.
"""
