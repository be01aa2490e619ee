import { lookup } from 'node:dns'
import type { Resolve } from './name-resolver.ts'

/**
 * Resolves by getaddrinfo: hosts file, search list, DNS. It runs on a thread of the process's pool, and cannot be
 * cancelled.
 */
export const resolveBySystem: Resolve = (host) =>
  new Promise((resolve, reject) =>
    lookup(host, { all: true }, (error, addresses) => (error ? reject(error) : resolve(addresses))),
  )

/**
 * Resolves one name at a time, so that many or slow look-ups hold at most one thread. A caller without an answer in
 * time leaves the queue with EAI_AGAIN; the next one starts when the look-up itself ends.
 */
export function limitToOne(resolve: Resolve, timeoutMs: number): Resolve {
  const waiting = new Set<() => void>()
  let isBusy = false

  function next(): void {
    const [first] = waiting
    isBusy = first !== undefined
    if (!first) return
    waiting.delete(first)
    first()
  }

  return (host) =>
    new Promise((found, failed) => {
      const begin = () => {
        resolve(host)
          .then(found, failed)
          .finally(() => {
            clearTimeout(timer)
            next()
          })
      }
      const timer = setTimeout(() => {
        waiting.delete(begin)
        failed(Object.assign(new Error(`no answer about ${host} in time`), { code: 'EAI_AGAIN' }))
      }, timeoutMs)
      waiting.add(begin)
      if (!isBusy) next()
    })
}
