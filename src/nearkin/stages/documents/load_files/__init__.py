"""Load files of review tools: Concordance DAT and CSV, with their texts in a column or in files that they name."""
