import { Button } from '@mantine/core'
import { IconMapQuestion } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { EmptyState } from '../ui/empty-state.tsx'
import { PageHeader } from '../ui/page-header.tsx'

/** Shows that an address leads to no page. */
export function NotFoundPage() {
  return (
    <>
      <PageHeader title="Page not found" />
      <EmptyState
        title="There is no page at this address"
        icon={IconMapQuestion}
        action={
          <Button component={Link} to="/">
            To the overview
          </Button>
        }
      >
        The link may be old or mistyped. In the Hub, Ctrl-K finds every page and record.
      </EmptyState>
    </>
  )
}
