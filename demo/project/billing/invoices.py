"""An invoice and what is owed on it."""

from dataclasses import dataclass, field
from decimal import Decimal


@dataclass
class Invoice:
    """Lines of an invoice, in the order in which they were added."""

    customer: str
    status: str = "open"
    lines: list[tuple[str, Decimal]] = field(default_factory=list)

    def add(self, what: str, price: Decimal) -> None:
        if price <= 0:
            raise ValueError(f"{what}: a price is more than nothing, not {price}")
        self.lines.append((what, price))

    def total(self) -> Decimal:
        return sum((price for _, price in self.lines), Decimal(0))


def owed(invoices: list[Invoice]) -> Decimal:
    """What customers still owe."""
    return sum((invoice.total() for invoice in invoices if invoice.status == "open"), Decimal(0))
