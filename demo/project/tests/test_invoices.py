"""What an invoice must do."""

import unittest
from decimal import Decimal

from billing.invoices import Invoice, owed


class InvoiceTest(unittest.TestCase):
    def test_total_adds_the_lines(self) -> None:
        invoice = Invoice("Ada")
        invoice.add("tea", Decimal("3.50"))
        invoice.add("cake", Decimal("4.25"))
        self.assertEqual(invoice.total(), Decimal("7.75"))

    def test_a_price_is_more_than_nothing(self) -> None:
        with self.assertRaises(ValueError):
            Invoice("Ada").add("nothing", Decimal(0))

    def test_paid_invoices_are_not_owed(self) -> None:
        paid = Invoice("Ada", status="paid")
        paid.add("tea", Decimal("3.50"))
        self.assertEqual(owed([paid]), Decimal(0))
