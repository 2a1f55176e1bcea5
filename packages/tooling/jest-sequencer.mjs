import Sequencer from '@jest/test-sequencer';

/** Small files that take 15 to 70 s. jest knows durations after a first run only; before it, the smallest files go last. */
const LONG =
  /\/(backlog|broker-away|embedded-cluster|fleet|leaderless|overload|run-chaos|run-scenario|stack-file)\.test\.ts$/;

/** The long ones go first, so that none of them runs alone at the end. */
export default class extends Sequencer {
  sort(tests) {
    const isLater = ({ path }) => Number(!LONG.test(path));
    return super.sort(tests).sort((one, other) => isLater(one) - isLater(other));
  }
}
