"""The program that is started in the sandbox in place of an ACP agent, and speaks with it.

ACP is a conversation, and burnish's door for processes knows a question and an answer: so this one stands in between.
It runs without packages (`python -I -S`): the standard library only, whatever of burnish it needs is in this folder.
"""
