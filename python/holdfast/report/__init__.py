"""What people and programs are shown: documents of plain data, and their rendering as text."""
