// Package statedir is the state folder of a workspace: what placet remembers for
// itself, outside the workspace, where neither a cloned repository nor an agent
// that is confined to the workspace can write.
//
// It is $XDG_STATE_HOME/placet/workspaces/<id>/, of mode 0700, and holds trust,
// processes under way, which contents this machine wrote ([Dir.Issue]), what was asked
// under which name ([Dir.KeepAsked]), which answers were used that may be used once
// ([Dir.TakeUse]), the key of the short words for what was shown ([Dir.References]), and
// the cache of earlier looks. All of it may be lost at any moment: then placet knows less
// and asks again.
//
// The id stands for one workspace: its path, and the device, inode and birth of
// its root and of the object store of its git repository. Another repository at
// the same path is another workspace, of which nothing is known but what makes placet
// stricter: that is kept by the path alone, in $XDG_STATE_HOME/placet/paths/<id>/
// ([OpenPath]).
//
// A state folder counts only where nobody else could have written in it: it and
// the folders that placet makes above it belong to this user, no folder above can
// be written by others, and it does not lie in the workspace itself.
package statedir
