// Package gate is how placet asks a person and takes the answer, the same for
// all families. It is pure: it gets documents and returns documents, verdicts
// and texts.
//
// A request is asked in two files, request.json for tools and a form for
// people ([Request.Encode], [Form]; a request may have a text of its own there,
// [Block]), and answered in two, response.json and the form itself
// ([ReadResponse], [ReadForm]). [Verify] alone makes a [Decision] of what something
// says, be it such a file, a receipt, a record of upstream's or a passed deadline.
// [Judge] says which of the files counts, [After] what an answer means that stands in
// place once the request is closed, and [Receipt] records what became of it.
//
// The rules:
//
//   - Nothing counts before it was sent: response.json by being there, a form
//     by its ticked last item.
//   - An unknown word is never an approval, and half an answer does not count.
//   - Each option carries its effect: the machine says what it does and carries it
//     out, and a word that refuses never lets anything go on.
//   - No option may look like another, or like a word that agrees or refuses and is
//     none ([CheckOptions]).
//   - One option answers. Where the request says so, any number of some of
//     them may be chosen together; every other one stands alone. Where one is
//     the default, an answer that picks items or comments need name none; a tick
//     that would be passed over there is asked about.
//   - No words are lost: what a person writes below the first option is part of the
//     comment, and the receipt says where it stood, or the form is void.
//   - What was shown is what is counted: ticks and comment apart, a form must be
//     what placet wrote, by this machine's record or as the request is rendered.
//   - An answer belongs to what was shown. It names the request, and the
//     digest of what the reviewer saw; what no longer fits is stale.
//   - response.json and the present form rank alike. If they
//     agree they are one answer; if they differ neither counts. Which came first
//     does not matter.
//   - What an agent wrote (prompt, context, descriptions, paths) can never be
//     read as an answer: it stands quoted and outside the part of the form
//     that is read.
//   - What cannot be used is left as it is, and a text says why, what would
//     be right, and what to do.
package gate
