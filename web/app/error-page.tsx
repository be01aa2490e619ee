import { Button, Group } from '@mantine/core'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useCallback, useEffect } from 'react'
import { Notice } from '../ui/notice.tsx'
import { PageNotLoaded } from './lazy-page.tsx'

/** A page that could not be loaded or broke while it was drawn. The rest of the UI goes on. */
export function ErrorPage({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const notLoaded = error instanceof PageNotLoaded
  const again = useCallback(async () => {
    if (!notLoaded) {
      reset()
      return router.invalidate()
    }
    // Browsers remember a script that did not come, so the window is loaded anew; once the Hub answers, lest the
    // browser's own error page takes its place. A page that was not loaded has nothing to lose.
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
