"""The message formats, a file each; `reports.MESSAGE_FORMATS` names them."""
