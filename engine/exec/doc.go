// Package exec runs what leaves a workspace's documents: local git, and the commands that
// the owner of the workspace has agreed to.
//
// # Commands
//
// A [Runner] carries out [engine.Action]s. A document records the attempt before
// [Runner.Begin] is called; when the command ends, its outcome is written to the document
// that the action names, and never more than once. There are two kinds:
//
//   - A check ends with placet. It has its own process group; an orderly stop sends
//     SIGTERM to the group and records the outcome "stopped".
//   - An agent outlives placet. It has its own session, and its output goes to files of
//     the state folder, so that nothing breaks when placet ends. [Runner.Recover]
//     recognizes it by process id and start time.
//
// Every attempt gets exactly one outcome, whatever happens:
//
//	finished     it ended by itself; exit_code is null if nobody saw the code or a
//	             signal ended it; for a judged command it is 128 plus the signal
//	timed_out    it was still running at its deadline
//	stopped      placet ended it: an orderly stop, nobody wants it any more, or
//	             the agreement was taken back; without an outcome document that is
//	             "revoked"
//	lost         its attempt was recorded, and nobody can tell how it ended
//	not_started  it never ran: no such program, or no permission
//
// The end of an action without an outcome document is a fact of this process:
// [Runner.Ended] holds it until the loop has written it down. Such a command always ends
// with placet. If an orderly stop ended it, the next placet knows it as "stopped" and it
// may begin again; if placet was killed, the next placet ends what is left of it. It may
// write a file of its own, whose bytes come back. An action for a database (package
// sqlite) is of this kind too: see [RunnerOptions].Database.
//
// A command gets a scrubbed environment and an argument vector, never a shell line. It
// runs in the folder that it names, or in the one that it prefers. The head and the tail
// of each output are kept, or the tail of both together if the action asks for that; if
// the action asks for a judge, package testoutput reports whether the whole output holds
// what was expected.
//
// [Alive] reports which commands run, for programs that only read the state folder.
//
// # Sends
//
// A send ([engine.Send]) gives something to somebody outside this machine, and has an
// outcome document too. Package send carries it out within this process: the state folder
// has no record of it, and [Runner.Recover] knows nothing of it. A send that was recorded
// but not begun here is "lost"; the machine decides when to plan it again. Trust does not
// concern sends.
//
// # Git
//
// [Git] answers needs such as "git:log/10" from the local repository alone. A repository's
// configuration is data written by others: nothing that it names is run, and nothing is
// fetched.
package exec
