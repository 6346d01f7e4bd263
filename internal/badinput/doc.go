// Package badinput is what the tests of every floor throw at placet: the kinds
// of bad file, as data in one place, and what it takes to hold a reader to its
// memory. No part of the program imports it.
package badinput
