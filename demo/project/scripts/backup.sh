#!/bin/sh
# Keep a copy of the invoices.
set -eu
mkdir -p backups
cp -r invoices "backups/$(date +%F)"
