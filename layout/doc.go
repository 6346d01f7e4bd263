// Package layout turns paths into (run, kind, writer) and back.
//
// It is the only place that knows where a family keeps its runs and what their
// files are called. All paths are relative to the workspace, with slashes.
// Nothing here touches a disk: a function that must list folders gets the
// listing function from its caller.
//
// Each family has one file; table.go has what they share, including the request folder.
package layout
