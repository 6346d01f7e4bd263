// Package nemawashi holds the verbs of Nemawashi actions, and what their environment says.
package nemawashi
