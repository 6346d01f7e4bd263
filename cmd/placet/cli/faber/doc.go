// Package faber has the verbs of FABER besides its controls: commands that run again, and the issue
// channel.
package faber
