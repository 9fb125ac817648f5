"""What each column of the table adds to the score of a row, for each form an ensemble is stored in."""
