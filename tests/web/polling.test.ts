import { environmentManager, focusManager, QueryClient, QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HubProblem } from '../../web/api/problem.ts'
import { pollEvery, slowerTimes } from '../../web/components/polling.ts'

const everyMs = 1000
let client: QueryClient
beforeEach(() => {
  vi.useFakeTimers()
  // Else nothing is read again by itself.
  environmentManager.setIsServer(() => false)
  focusManager.setFocused(true)
  client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
})
afterEach(() => {
  client.clear()
  focusManager.setFocused(undefined)
  vi.useRealTimers()
})

/** What reads as the page does, and is counted. */
function poll(isLive: boolean, read = vi.fn(async () => 'events')) {
  const observer = new QueryObserver(client, {
    queryKey: ['events'],
    queryFn: read,
    staleTime: Number.POSITIVE_INFINITY,
    ...pollEvery(everyMs, isLive),
  })
  return { read, stop: observer.subscribe(() => {}) }
}

test('live reads again and again', async () => {
  const { read, stop } = poll(true)
  await vi.advanceTimersByTimeAsync(5 * everyMs + 100)
  expect(read).toHaveBeenCalledTimes(6)
  stop()
})

test('not live reads once', async () => {
  const { read, stop } = poll(false)
  await vi.advanceTimersByTimeAsync(20 * everyMs)
  expect(read).toHaveBeenCalledTimes(1)
  stop()
})

test('a tab that nobody looks at reads nothing, and goes on when it is looked at', async () => {
  const { read, stop } = poll(true)
  await vi.advanceTimersByTimeAsync(100)
  focusManager.setFocused(false)
  await vi.advanceTimersByTimeAsync(60 * everyMs)
  expect(read).toHaveBeenCalledTimes(1)
  focusManager.setFocused(true)
  await vi.advanceTimersByTimeAsync(3 * everyMs)
  expect(read).toHaveBeenCalledTimes(4)
  stop()
})

test('it goes slower where there are too many requests, and as before once there are not', async () => {
  const tooMany = new HubProblem(429, { title: 'Too many requests' }, 1)
  const read = vi.fn(async () => 'events').mockRejectedValueOnce(tooMany)
  const { stop } = poll(true, read)
  await vi.advanceTimersByTimeAsync(slowerTimes * everyMs - 100)
  expect(read).toHaveBeenCalledTimes(1)
  await vi.advanceTimersByTimeAsync(200)
  expect(read).toHaveBeenCalledTimes(2)
  await vi.advanceTimersByTimeAsync(3 * everyMs)
  expect(read).toHaveBeenCalledTimes(5)
  stop()
})

test('other failures are tried again as usual', async () => {
  const read = vi.fn(async () => 'events').mockRejectedValueOnce(new Error('broken'))
  const { stop } = poll(true, read)
  await vi.advanceTimersByTimeAsync(3 * everyMs + 100)
  expect(read).toHaveBeenCalledTimes(4)
  stop()
})
