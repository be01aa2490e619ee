import { Button, Group } from '@mantine/core'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { useEffect } from 'react'
import { Notice } from '../ui/notice.tsx'
import { PageNotLoaded } from './lazy-page.ts'

/** A page that could not be loaded or broke while it was drawn. The rest of the UI goes on. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const notLoaded = error instanceof PageNotLoaded

  useEffect(() => {
    if (!notLoaded) return
    const again = () => void router.invalidate()
    window.addEventListener('online', again)
    return () => window.removeEventListener('online', again)
  }, [notLoaded, router])

  return (
    <Notice
      kind={notLoaded ? 'warning' : 'danger'}
      title={notLoaded ? 'This page could not be loaded' : 'This page broke'}
      urgent
      actions={
        <Group>
          <Button
            size="xs"
            onClick={() => {
              void router.invalidate().then(reset)
            }}
          >
            Try again
          </Button>
          <Button size="xs" variant="default" onClick={() => window.location.reload()}>
            Reload
          </Button>
        </Group>
      }
    >
      {notLoaded
        ? 'There is no connection to the Hub, or it was upgraded while this window was open: then reloading brings the new version.'
        : `Nothing was lost. Reload to start over. (${error instanceof Error ? error.message : String(error)})`}
    </Notice>
  )
}
