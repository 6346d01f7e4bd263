// Package hook knows the clients in which agents run: what each tells placet before a tool
// is called, what it takes for an answer, and which files set it up.
//
// Of all clients only the exit code 2 stops a call by itself. So whoever reads this package's
// errors before a tool is called must end with it.
//
// The guard and the rules compare text. They are a fence for the honest: what an answer is
// worth is the gate's to say.
package hook
