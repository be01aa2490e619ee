import { Box } from '@mantine/core'
import { useNetwork } from '@mantine/hooks'
import { Notice } from '../ui/notice.tsx'

/** Shows a banner while there is no network. */
export function ConnectionBanner() {
  const { online } = useNetwork()
  if (online) return null
  return (
    <Box mb="md">
      <Notice kind="warning" title="You are offline" urgent>
        The data on this page was loaded before. It refreshes when there is a connection.
      </Notice>
    </Box>
  )
}
