// Package faber holds the verbs of the family FABER besides its controls.
package faber
