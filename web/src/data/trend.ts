// The runs of a name in order: where on the axis each stands, and where the commit changes.

import type { SessionRun } from "../history/model";

export interface CommitSpan {
  from: number;
  to: number;
  words: string;
}

/** Runs stand at 1, 2, …; neighbours of one commit share its span of the axis. */
export function commitSpans(runs: readonly Pick<SessionRun, "git_commit">[]): CommitSpan[] {
  const spans: CommitSpan[] = [];
  let last: string | null | undefined;
  runs.forEach(({ git_commit }, at) => {
    const span = spans.at(-1);
    if (span && git_commit === last) span.to = at + 1.5;
    else spans.push({ from: at + 0.5, to: at + 1.5, words: shortCommit(git_commit) });
    last = git_commit;
  });
  return spans;
}

/** A commit by its first digits. */
export function shortCommit(commit: string | null): string {
  return commit?.slice(0, 8) ?? "–";
}
