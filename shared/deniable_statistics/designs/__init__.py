"""What is known of the way from answers to reports: mechanisms and classical designs provide it alike."""
