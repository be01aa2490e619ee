import { useSyncExternalStore } from 'react'
import type { DemoProgress } from '../../../../demo/demo-api.ts'
import { isDevelopment } from '../../../api/environment.ts'
import { useMe } from '../../../api/me.ts'
import { queryClient } from '../../../api/query-client.ts'
import { toastDone } from '../../../components/toast.ts'
import { createDemoStore, type DemoLoad } from './demo-store.ts'

/** The load in this window. It outlives the page, so that the user may visit other pages meanwhile. */
const store = createDemoStore()

/** Names the tenant whose load has begun and not ended, so that a reloaded page offers to continue it. */
const unfinishedKey = 'hub-demo-unfinished'

interface Demo {
  load: DemoLoad
  /** True if the page offers the load: to administrators, in development only. */
  isOffered: boolean
  /** True if an earlier load of this browser did not end. */
  isUnfinished: boolean
  start(): void
}

/**
 * Returns the load without its progress, which {@link useDemoProgress} returns. This value changes only a few times in
 * a load.
 */
export function useDemo(): Demo {
  const { role, tenant } = useMe()
  const load = useSyncExternalStore(store.state.subscribe, store.state.get)
  const isOffered = isDevelopment && role === 'admin'
  return {
    load,
    isOffered,
    isUnfinished: isOffered && load.state === 'none' && unfinishedTenant() === tenant,
    start: () => void start(tenant),
  }
}

export function useDemoProgress(): DemoProgress | undefined {
  return useSyncExternalStore(store.progress.subscribe, store.progress.get)
}

async function start(tenant: string): Promise<void> {
  if (store.state.get().state === 'loading') return
  store.enter({ state: 'loading' })
  setUnfinished(tenant)
  window.addEventListener('beforeunload', warn)
  try {
    const { runDemo } = await import('./run-demo.ts')
    await runDemo(tenant, store.tick)
    setUnfinished(undefined)
    await queryClient.invalidateQueries()
    store.enter({ state: 'none' })
    toastDone('The demo data is loaded.')
  } catch (error) {
    store.enter({ state: 'failed', error })
  } finally {
    window.removeEventListener('beforeunload', warn)
  }
}

/** Makes the browser ask before it leaves the page. */
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
