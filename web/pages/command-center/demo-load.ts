import { useSyncExternalStore } from 'react'
import type { DemoProgress } from '../../../demo/demo-api.ts'
import { isDevelopment } from '../../api/environment.ts'
import { useMe } from '../../api/me.ts'
import { queryClient } from '../../api/query-client.ts'
import { notifyDone } from '../../components/notify.ts'

/** State of the load in this window. It outlives the page, so that the reader may look at other pages meanwhile. */
type DemoLoad =
  | { state: 'none' }
  | { state: 'loading'; progress: DemoProgress | undefined }
  | { state: 'failed'; error: unknown }

let current: DemoLoad = { state: 'none' }
const listeners = new Set<() => void>()

function set(next: DemoLoad): void {
  current = next
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Names the tenant whose load has begun and not ended, so that a reloaded page offers to continue it. */
const unfinishedKey = 'hub-demo-unfinished'

interface Demo {
  load: DemoLoad
  /** Whether the page offers to load: to administrators, in development only. */
  isOffered: boolean
  /** Whether an earlier load of this browser did not end. */
  isUnfinished: boolean
  start(): void
}

export function useDemo(): Demo {
  const { role, tenant } = useMe()
  const load = useSyncExternalStore(subscribe, () => current)
  const isOffered = isDevelopment && role === 'admin'
  return {
    load,
    isOffered,
    isUnfinished: isOffered && load.state === 'none' && unfinishedTenant() === tenant,
    start: () => void start(tenant),
  }
}

async function start(tenant: string): Promise<void> {
  if (current.state === 'loading') return
  set({ state: 'loading', progress: undefined })
  setUnfinished(tenant)
  window.addEventListener('beforeunload', warn)
  try {
    const { runDemo } = await import('./run-demo.ts')
    await runDemo(tenant, (progress) => set({ state: 'loading', progress }))
    setUnfinished(undefined)
    await queryClient.invalidateQueries()
    set({ state: 'none' })
    notifyDone('The demo data is loaded.')
  } catch (error) {
    set({ state: 'failed', error })
  } finally {
    window.removeEventListener('beforeunload', warn)
  }
}

/** Has the browser ask before it leaves the page. */
function warn(event: BeforeUnloadEvent): void {
  event.preventDefault()
}

function unfinishedTenant(): string | null {
  try {
    return localStorage.getItem(unfinishedKey)
  } catch {
    return null
  }
}

function setUnfinished(tenant: string | undefined): void {
  try {
    if (tenant === undefined) localStorage.removeItem(unfinishedKey)
    else localStorage.setItem(unfinishedKey, tenant)
  } catch {
    // Storage is switched off: the command continues the load.
  }
}
