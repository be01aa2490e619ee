import { Button } from '@mantine/core'
import { IconLock } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { useMe } from '../api/me.ts'
import { EmptyState } from '../ui/empty-state.tsx'
import { PageHeader } from '../ui/page-header.tsx'

/** Shows that the user's role has no access to a page. The Hub would reject its requests, too. */
export function ForbiddenPage({ label }: { label: string }) {
  const { role, tenant } = useMe()
  return (
    <>
      <PageHeader title={label} />
      <EmptyState
        title="You do not have access to this page"
        icon={IconLock}
        action={
          <Button component={Link} to="/">
            To the overview
          </Button>
        }
      >
        {`You are signed in to ${tenant}${role ? ` as ${role}` : ''}. An administrator of the tenant can give you another role under People and roles.`}
      </EmptyState>
    </>
  )
}
