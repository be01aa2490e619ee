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
        What is shown was read before. It is brought up to date as soon as there is a connection.
      </Notice>
    </Box>
  )
}
