// Who draws which kind of drawing: each is given its data, a scene and the trace, and returns what draws a state.

const DRAWERS = { towers: drawTowers, board: drawBoard, map: drawBoard, cities: drawCities, rooms: drawRooms, lift: drawLift, graph: drawGraph };
