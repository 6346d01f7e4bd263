// Package slack encodes what placet sends to Slack and decodes what Slack sends: messages
// about requests, the signature of a call, presses of buttons, dialogs, and replies in
// threads. It sends and decides nothing.
//
// Texts of files are shown unchanged: whatever Slack would take for markup, a mention or a
// link is escaped, and an invisible character appears as its number.
//
// Sources: Slack's documentation of Block Kit and of request signatures, and section 13 of
// the format page of nemawashi.
package slack
