import { Loader, Skeleton, Stack, Text } from '@mantine/core'
import type { FetchStatus } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { HubProblem } from '../api/problem.ts'
import { Notice } from '../ui/notice.tsx'
import { formatTime } from '../ui/time-text.tsx'
import { ProblemNotice } from './problem-notice.tsx'

/**
 * The members of a query that the boundary uses: results of useQuery, useInfiniteQuery and `combineQueries` have them.
 */
export interface LoadableQuery<Data> {
  data: Data | undefined
  error: unknown
  /** The reason of the latest failure, while another attempt is in flight. */
  failureReason: unknown
  fetchStatus: FetchStatus
  /** Milliseconds since 1970. */
  dataUpdatedAt: number
  refetch(): Promise<unknown>
}

interface LoadedProps<Data> {
  query: LoadableQuery<Data>
  /** The name of the loaded data in a sentence: "records", "delivery". */
  what: string
  /** The placeholder while loading, so that nothing moves; defaults to some lines. */
  skeleton?: ReactNode
  children(data: Data): ReactNode
}

/**
 * Renders `children` with the data of a query, and otherwise its state: loading, rate-limited, offline, forbidden, failed.
 * Shows a notice above old data. The page itself handles an empty response.
 */
export function QueryBoundary<Data>({ query, what, skeleton, children }: LoadedProps<Data>) {
  const { data, error, failureReason, fetchStatus, dataUpdatedAt } = query
  const retry = () => void query.refetch()
  if (data === undefined) {
    if (fetchStatus === 'paused') {
      return (
        <Notice kind="warning" title="You are offline" urgent>
          This part of the page loads when there is a connection.
        </Notice>
      )
    }
    if (error) return <ProblemNotice error={error} title={`Could not load ${what}`} onRetry={retry} />
    return (
      <Stack gap="sm" aria-busy="true">
        {failureReason ? (
          <Waiting reason={failureReason} what={what} />
        ) : (
          <span className="visually-hidden" role="status">{`Loading ${what}…`}</span>
        )}
        {skeleton ?? <SkeletonLines />}
      </Stack>
    )
  }
  const stale = error ?? (fetchStatus === 'paused' ? failureReason : null)
  return (
    <>
      {(stale || fetchStatus === 'paused') && (
        <Stack mb="sm">
          <Notice kind="warning" title={`As of ${formatTime(new Date(dataUpdatedAt).toISOString())}`}>
            <Text size="sm">
              {fetchStatus === 'paused'
                ? 'You are offline. The data below was loaded before.'
                : `Could not refresh ${what}: ${stale instanceof Error ? stale.message : 'no response'}`}
            </Text>
          </Notice>
        </Stack>
      )}
      {children(data)}
    </>
  )
}

/** Shows that an attempt failed and another is in flight. */
function Waiting({ reason, what }: { reason: unknown; what: string }) {
  const limited = reason instanceof HubProblem && reason.status === 429
  return (
    <Notice kind="info" title={limited ? 'Too many requests for now' : 'Cannot reach the Hub yet'} urgent>
      <Text size="sm">
        <Loader size={12} mr={6} aria-hidden />
        {limited
          ? `Loading ${what} again in ${reason.retryAfterSeconds ?? 'a few'} seconds.`
          : `Trying again to load ${what}…`}
      </Text>
    </Notice>
  )
}

export function SkeletonLines({ lines = 6, height = 44 }: { lines?: number; height?: number }) {
  return (
    <Stack gap="xs" aria-hidden>
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike and never move
        <Skeleton key={line} height={height} radius="sm" />
      ))}
    </Stack>
  )
}
