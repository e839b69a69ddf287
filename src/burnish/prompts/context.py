"""From everything that is known about a piece of work to the prompt for it. The one door to this package.

A prompt is: an opening (the user's own, or ours), rules, what counts, the data with each piece fenced, the contract.
"""

from burnish.prompts.fixing import builder_prompt, fixer_prompt
from burnish.prompts.material import (
    BuildMaterial,
    Criterion,
    FixMaterial,
    ReviewMaterial,
    Task,
    TestStatus,
    Ticket,
    TicketReviewContext,
)
from burnish.prompts.reviewing import reviewer_prompt, session_prompt, ticket_context

__all__ = [
    "BuildMaterial",
    "Criterion",
    "FixMaterial",
    "ReviewMaterial",
    "Task",
    "TestStatus",
    "Ticket",
    "TicketReviewContext",
    "builder_prompt",
    "fixer_prompt",
    "reviewer_prompt",
    "session_prompt",
    "ticket_context",
]
