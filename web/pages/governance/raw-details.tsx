import { Box, Button, Code, Collapse } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useId } from 'react'

/** Shows the details exactly as they were written. */
export function RawDetails({ details }: { details: unknown }) {
  const [opened, { toggle }] = useDisclosure()
  const id = useId()
  return (
    <Box>
      <Button variant="default" size="xs" aria-expanded={opened} aria-controls={id} onClick={toggle}>
        {opened ? 'Hide the details as JSON' : 'Show the details as JSON'}
      </Button>
      <Collapse id={id} expanded={opened}>
        {opened && (
          <Code block mt="xs" tabIndex={0} role="group" aria-label="Details as JSON">
            {JSON.stringify(details, null, 2)}
          </Code>
        )}
      </Collapse>
    </Box>
  )
}
