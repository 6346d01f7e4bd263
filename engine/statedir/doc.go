// Package statedir reads and writes the state folder of a workspace: what placet
// remembers for itself, outside the workspace, where neither a cloned repository
// nor an agent that is confined to the workspace can write.
//
// It is $XDG_STATE_HOME/placet/workspaces/<id>/, of mode 0700, and holds trust, running
// processes, the contents that this machine wrote ([Dir.Issue]), the questions that were
// asked under each name ([Dir.KeepAsked]), the uses of single-use answers
// ([Dir.TakeUse]), the key of the short words for what was shown ([Dir.References]), and
// the cache of earlier looks. All of it may be lost at any moment: placet then knows less
// and asks again.
//
// The id identifies one workspace by its path, and by the device, inode and birth of
// its root and of the object store of its git repository. Another repository at the
// same path is another workspace, about which placet knows only what makes it
// stricter: that is kept for the path alone, in $XDG_STATE_HOME/placet/paths/<id>/
// ([OpenPath]).
//
// A state folder counts only if nobody else could have written in it: it and the
// folders that placet makes above it belong to this user, no folder above can be
// written by others, and it is not in the workspace itself.
package statedir
