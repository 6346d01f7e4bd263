// Package nemawashi holds the verbs of Nemawashi actions, and reads the settings of their
// environment.
package nemawashi
