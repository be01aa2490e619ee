import { Button, Group } from '@mantine/core'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { Notice } from '../ui/notice.tsx'
import { PageNotLoaded } from './lazy-page.tsx'

/** Shows that a page failed to load or to render. The rest of the UI still works. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const notLoaded = error instanceof PageNotLoaded
  const again = useCallback(async () => {
    if (!notLoaded) {
      reset()
      return router.invalidate()
    }
    // Browsers cache a failed script, so the window is reloaded. This waits until the Hub responds; otherwise the
    // browser's own error page would appear. A page that was not loaded has no state to lose.
    const answer = await fetch('/', { method: 'HEAD', cache: 'no-store' }).catch(() => undefined)
    if (answer?.ok) window.location.reload()
  }, [notLoaded, reset, router])

  useEffect(() => {
    if (!notLoaded) return
    const online = () => void again()
    window.addEventListener('online', online)
    return () => window.removeEventListener('online', online)
  }, [notLoaded, again])

  return (
    <Notice
      kind={notLoaded ? 'warning' : 'danger'}
      title={notLoaded ? 'This page could not be loaded' : 'Something went wrong'}
      urgent
      actions={
        <Group>
          <Button size="xs" onClick={() => void again()}>
            Try again
          </Button>
          {!notLoaded && (
            <Button size="xs" variant="default" onClick={() => window.location.reload()}>
              Reload
            </Button>
          )}
        </Group>
      }
    >
      {notLoaded
        ? 'There is no connection to the Hub, or it was upgraded while this window was open. It is tried again as soon as there is a connection.'
        : `Nothing was lost. Reload to start over. (${error instanceof Error ? error.message : String(error)})`}
    </Notice>
  )
}
