import { Box } from '@mantine/core'
import { useNetwork } from '@mantine/hooks'
import { Notice } from '../ui/notice.tsx'

/** Says that there is no network, as long as there is none. */
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
