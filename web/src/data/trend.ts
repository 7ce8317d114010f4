// The runs of a name in order: their positions on the axis, and where the commit changes.

import type { SessionRun } from "../history/model";

export interface CommitSpan {
  from: number;
  to: number;
  words: string;
}

/** Return the span of each commit on an axis on which run n is at n. */
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

/** Return the first digits of a commit. */
export function shortCommit(commit: string | null): string {
  return commit?.slice(0, 8) ?? "–";
}
