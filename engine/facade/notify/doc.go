// Package notify tells people that a request is open: by services that a URL names, on the
// desktop, and by a program of the user's. It decides nothing, and it may be killed at any
// moment.
//
// A request has rungs: its opening, each reminder, each escalation, at ages that are counted
// from when it was asked. A [Notifier] is told which requests open and close, looks what is
// due, and sends beside the loop; whether a request is still open is looked at before each
// message.
//
// Each (request, rung, target) is tried at most once: a line in notified.jsonl of the state
// folder is durable before the attempt begins, and its outcome follows. An attempt without
// an outcome is never made again. One that was refused, so that nothing can have arrived, is
// tried again three times. A later rung stands for the earlier ones, so whoever was away
// for a day hears of a request once.
//
// settings.go reads the table [notify], quiet.go moves what is due in quiet hours, ledger.go
// keeps the lines, notifier.go decides what goes out when, send.go hands it over.
package notify
