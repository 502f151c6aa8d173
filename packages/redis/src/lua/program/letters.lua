local char = string.char

-- A whole number below 2^53 in six to nine letters from ":" to "y": its digits to the base 64, the lowest one first. A number in
-- decimal digits takes as long, but more bytes.
local function to_letters(number)
  local first = number % 64
  number = (number - first) / 64
  local second = number % 64
  number = (number - second) / 64
  local third = number % 64
  number = (number - third) / 64
  local fourth = number % 64
  number = (number - fourth) / 64
  local fifth = number % 64
  number = (number - fifth) / 64
  local digit = number % 64
  local letters = char(first + 58, second + 58, third + 58, fourth + 58, fifth + 58, digit + 58)
  while number >= 64 do
    number = (number - digit) / 64
    digit = number % 64
    letters = letters .. char(digit + 58)
  end
  return letters
end
