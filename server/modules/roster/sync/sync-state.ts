import type { Static } from 'typebox'
import type { SyncSchema } from './syncs-schemas.ts'

export type SyncStatus = Static<typeof SyncSchema>['status']

/** A skipped entry of the directory: only its place from 1 and a reason, never its content. */
export type SkippedEntry = NonNullable<Static<typeof SyncSchema>['skipped_entries']>[number]

type Phase = 'users' | 'groups' | 'absent' | 'archetypes'

/** Progress of a sync. A new process continues from here. */
export type SyncPosition = ReturnType<typeof firstPosition>

export function firstPosition(phase: Phase, count: number) {
  return {
    phase,
    /** Index of the next page, from 1. */
    startIndex: 1,
    /** Number of the pass: a directory that changes while it is read is read again. */
    pass: 1,
    /**
     * Values of the pass: the largest total that the directory reported, the number of new entries, and of unusable
     * ones.
     */
    ...{ totalMax: 0, fresh: 0, skipped: 0 },
    /** The first skipped entries of users and groups. */
    skippedEntries: [] as readonly SkippedEntry[],
    /** Entries of all passes, each counted once. */
    ...{ users: 0, groups: 0 },
    /** Number of unusable user entries, once their pass has ended. */
    usersSkipped: 0,
    /** Members of groups are requested group by group, since together they are too large for a response. */
    membersApart: false,
    /** Maximum number of entries per page; reduced if pages are too large. */
    count,
    /** Whether this pass may have missed entries. */
    isDoubtful: false,
    /** The same for users, once they are read. */
    usersDoubtful: false,
    /** User ids of last administrators who are inactive or absent in the directory. */
    keptActive: [] as readonly string[],
    /** The person whose archetypes were reconciled last. */
    after: '',
    /** Number of processes that took up the sync since its last progress. */
    tries: 0,
    /** Number of failed attempts at the next request to the directory. */
    asks: 0,
  }
}

const keptNamedMax = 100
const skippedNamedMax = 20

/** Adds last administrators who are inactive or absent in the directory. */
export function nameKept(position: SyncPosition, userIds: readonly string[] = []): void {
  position.keptActive = [...new Set([...position.keptActive, ...userIds])].slice(0, keptNamedMax)
}

/** Counts a skipped entry, and lists it while the list is short. */
export function noteSkipped(position: SyncPosition, entry: SkippedEntry): void {
  position.skipped += 1
  if (position.skippedEntries.length < skippedNamedMax) position.skippedEntries = [...position.skippedEntries, entry]
}

/** Resets the skipped entries of a list that is read again. */
export function clearSkipped(position: SyncPosition, resource: SkippedEntry['resource']): void {
  position.skipped = 0
  position.skippedEntries = position.skippedEntries.filter((entry) => entry.resource !== resource)
}

/** Signals that the sync was cancelled, or that another process has taken it over. */
export class SyncEndedError extends Error {
  override readonly name = 'SyncEndedError'
}

/** Signals that a sync cannot continue. The message is for people and has no content of the directory. */
export class SyncFailed extends Error {
  override readonly name = 'SyncFailed'
}
