// Package hook knows the clients in which agents run: what each of them says before a tool is
// called, which answers it accepts, and which files set it up.
//
// For all clients, only exit code 2 by itself stops a call. A program that gets an error of
// this package before a tool is called must therefore exit with 2.
//
// The guard and the rules compare text. They are a fence for the honest: the gate decides
// what an answer counts for.
package hook
