import { closeAfterFault, closeAll } from '../../src/engine/closers.js';

const noted = () => {
  const closed: string[] = [];
  const close = (name: string) => () => {
    closed.push(name);
    return Promise.resolve();
  };
  return { closed, close };
};
const throwing = (): Promise<void> => {
  throw new Error('read-only file system');
};

it('all are closed, last opened first, even when one throws at once or rejects', async () => {
  const { closed, close } = noted();
  const closers = [
    close('one'),
    throwing,
    close('two'),
    () => Promise.reject(new Error('gone')),
    close('three'),
  ];
  const failure = closeAll(closers, 'the stack');
  await expect(failure).rejects.toMatchObject({
    message: 'the stack did not stop in order',
    cause: new Error('gone'),
  });
  expect(closed).toEqual(['three', 'two', 'one']);
});

it('the fault of opening is thrown, whatever happens while closing', async () => {
  const fault = new Error('the port is taken');
  const { closed, close } = noted();
  await expect(closeAfterFault([close('one')], 'the stack', fault)).rejects.toBe(fault);
  expect(closed).toEqual(['one']);
  await expect(closeAfterFault([throwing], 'the stack', fault)).rejects.toMatchObject({
    message: 'the port is taken; and the stack did not stop in order',
    cause: fault,
  });
});
