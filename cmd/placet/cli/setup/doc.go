// Package setup prepares a workspace for placet and for the clients of agents, and finds what is
// wrong with it.
package setup
