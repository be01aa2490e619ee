import { Button, Group } from '@mantine/core'
import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { Notice } from '../ui/notice.tsx'

/** A page that could not be loaded or broke while it was drawn. The rest of the UI goes on. */
export function PageFailed({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const message = error instanceof Error ? error.message : String(error)
  const notLoaded = /import|fetch/i.test(message)
  return (
    <Notice
      kind="danger"
      title={notLoaded ? 'This page could not be loaded' : 'This page broke'}
      urgent
      actions={
        <Group>
          <Button
            size="xs"
            onClick={() => {
              reset()
              void router.invalidate()
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
        ? 'The connection broke, or the Hub was updated while this window was open. Reload to get the new version.'
        : `Nothing was lost. Reload to start over. (${message})`}
    </Notice>
  )
}
